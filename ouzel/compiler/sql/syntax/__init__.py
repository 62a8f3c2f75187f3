"""From text to trees: tokens, statement shells, and queries as sqlglot reads them."""
