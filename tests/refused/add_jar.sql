-- error: ADD JAR is not supported: connectors are Python packages, as in pip install 'ouzel[kafka]'
-- at: ADD JAR
ADD JAR 'kafka.jar';
