-- error: RECONCILE is not supported yet
-- at: RECONCILE
RECONCILE words;
