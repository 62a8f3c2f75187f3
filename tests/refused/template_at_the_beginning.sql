-- error: a template is not filled in; render the text first, as dbt and Jinja do, or write what stands for it
-- at: {%
{% set x = 1 %}
SELECT origin FROM flights;
