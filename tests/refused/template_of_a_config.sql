-- error: a template is not filled in; render the text first, as dbt and Jinja do, or write what stands for it
-- at: {{
{{ config(materialized='view') }}
SELECT origin FROM flights;
