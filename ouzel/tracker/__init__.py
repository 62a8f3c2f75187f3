"""`ouzel ui`: a tracker with Heron's URLs, and pages, over the submitted topologies of one OUZEL_HOME.

It changes nothing by itself: an action is a command. What it shows comes from the state manager, the topology masters, and files in job
directories; so it may start later than the topologies, die, or run twice.

topologies/    how one topology stands, put together from these
metrics/       metrics as series, Heron's query language over them, Prometheus, Graphite, Grafana
api/           Heron's URLs and shapes, without I/O
pages/         the pages, their templates and scripts
logs/          files of containers, and the pages that show them
acting/        what changes a topology
health/        what is the matter with one: symptoms and verdicts
alerts/        conditions on topologies, and who is told (`ouzel alerts`)
app.py, serve.py, guard.py, peers.py    the server, and who may ask
"""
