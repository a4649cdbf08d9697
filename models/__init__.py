"""Networks that vision loads, each with its card; how they are trained lies in `models.training`."""
