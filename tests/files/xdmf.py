"""xdmf.py FILE.xdmf  - checks that an XDMF file says of its HDF5 file what is true"""
import os
import sys
import xml.etree.ElementTree as tree

import h5py
import numpy as np

folder = os.path.dirname(sys.argv[1])
grid = tree.parse(sys.argv[1]).getroot().find("Domain/Grid")


def numbers(item):
    """The array that a DataItem stands for"""
    size = [int(n) for n in item.get("Dimensions").split()]
    if item.get("Format") == "XML":
        data = np.array(item.text.split(), dtype=float)
    else:
        file, dataset = item.text.rsplit(":", 1)
        with h5py.File(os.path.join(folder, file), "r") as f:
            data = f[dataset][...]
    assert data.size == np.prod(size), f"{item.text} has {data.size} numbers, not {size}"
    assert data.dtype == np.float64 and item.get("Precision") == "8" and item.get("NumberType") == "Float"
    return data.reshape(size)


nodes = [int(n) for n in grid.find("Topology").get("Dimensions").split()]
edges = [numbers(item) for item in grid.findall("Geometry/DataItem")]
assert grid.find("Topology").get("TopologyType") == f"{len(nodes)}DRectMesh"
assert grid.find("Geometry").get("GeometryType") == "VXVYVZ"[: 2 * len(nodes)]
assert [len(e) for e in reversed(edges)] == nodes, "edges and nodes"
assert all((np.diff(e) > 0).all() for e in edges), "edges increase"
attributes = grid.findall("Attribute")
assert attributes, "a field"
for attribute in attributes:
    assert attribute.get("Center") == "Cell" and attribute.get("AttributeType") == "Scalar" and attribute.get("Name")
    field = numbers(attribute.find("DataItem"))
    assert list(field.shape) == [n - 1 for n in nodes], "one value for each cell"
    assert np.isfinite(field).all() and field.max() > 0
