-- error: notes is MAP<VARCHAR, VARCHAR> and has no field gate; write notes['gate']
-- at: gate
SELECT notes.gate FROM flights;
