"""Plain types: ids, dataset specs, states, filters, errors. Imports nothing else of ours."""
