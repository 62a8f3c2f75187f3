-- error: ADD JAR is not supported: add the connector's Python package, pip install 'ouzel[kafka]'
-- at: ADD JAR
ADD JAR 'kafka.jar';
