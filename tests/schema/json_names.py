# SPDX-License-Identifier: Apache-2.0
# tests/schema/json_names.py — names of the fields in a JSON value.


def names_in(value):
    """Returns the names of all fields anywhere in a JSON object or list."""
    names = set()
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, (dict, list)):
            names |= names_in(one)
    return names | (value.keys() if isinstance(value, dict) else set())
