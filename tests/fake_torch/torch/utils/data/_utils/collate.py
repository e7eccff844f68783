def default_convert(data):
    return data


def default_collate(batch):
    """Samples that are tuples become a tuple of lists; others become a list."""
    if isinstance(batch[0], tuple):
        return tuple(list(column) for column in zip(*batch))
    return list(batch)
