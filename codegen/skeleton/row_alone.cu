// A row that a block, or a cluster, has to itself: of these there are as many as rows.
const $INDEX o = $ROW_AT;
const bool inside = true;
