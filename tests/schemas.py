"""What every schema that is derived from the types of a document must have."""

import jsonschema


def check_described(schema):
    """Every object and every field has a sentence of its own."""
    jsonschema.Draft202012Validator.check_schema(schema)
    parts = schema["$defs"]
    for name, part in parts.items():
        assert len(part["description"]) > 8, name
        assert part["additionalProperties"] is False
        for field, node in part["properties"].items():
            target = parts[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
            assert len(target.get("description", "")) > 8, f"{name}.{field}"


def short(node):
    """A document with two entries of each list, which takes less time to validate."""
    if isinstance(node, dict):
        return {key: short(value) for key, value in node.items()}
    return [short(value) for value in node[:2]] if isinstance(node, list) else node
