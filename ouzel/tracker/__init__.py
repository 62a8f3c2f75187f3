"""`ouzel ui`: a tracker with Heron's URLs, and pages, over the submitted topologies of one OUZEL_HOME.

It changes nothing. What it shows comes from the state manager, the topology masters, and files in job directories; so it may start
later than the topologies, die, or run twice.

snapshot.py, watching.py    how one topology stands, put together from these
history.py, series.py       metrics as series with a value a minute
query.py, query.lark        Heron's query language over such series
plans.py, states.py         a snapshot in Heron's shapes, without I/O; models.py has their types
api.py, app.py, guard.py    the URLs, and who may ask
pages.py, drawing.py        the pages
"""
