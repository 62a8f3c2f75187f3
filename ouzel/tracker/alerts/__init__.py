"""`ouzel alerts`: conditions on submitted topologies, and who is told when one holds, and when it no longer does.

conditions.py, conditions.lark    the language of conditions
rules.py                          a file of rules, in TOML
machine.py                        who is to be told what, without I/O or clock
facts.py                          what conditions are about
sending.py, keeping.py            the shell: webhook, e-mail and command; what is remembered
"""
