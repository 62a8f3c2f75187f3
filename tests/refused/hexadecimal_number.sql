-- error: a hexadecimal number is not supported; write 31, or x'1F' for BYTES
-- at: 0x1F
SELECT id + 0x1F AS x FROM flights;
