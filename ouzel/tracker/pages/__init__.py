"""Pages of topologies and their dashboards: what they show (views.py, dashboards.py), where it is drawn, templates and scripts."""
