"""Heron's URLs: routes.py has them; models.py the types of answers, which the other files make of a snapshot and a history."""
