SELECT word, count(*) AS n FROM lines LATERAL VIEW explode(split(line, ' ')) AS word GROUP BY word
