SELECT plane.tail, f.plane.engine.kind AS engine, f.plane.engine, legs[1].minutes, notes['gate'], tags[2] || 'x' AS tag FROM flights AS f;
