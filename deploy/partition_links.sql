-- Splits the table of links into 16 partitions by the hash of their scope. For Postgres; run it once, after
-- `accountlink migrate` and with no node at work, since it holds the table from the first line to the last:
--
--   psql --set=ON_ERROR_STOP=1 --single-transaction --file=deploy/partition_links.sql "$ACCOUNTLINK_DATABASE_URL"
--
-- Nodes need not be told: their statements are the same.

LOCK TABLE links IN ACCESS EXCLUSIVE MODE;
ALTER TABLE links RENAME TO links_in_one_piece;
ALTER TABLE links_in_one_piece DROP CONSTRAINT links_pid_fkey;
ALTER INDEX links_pkey RENAME TO links_in_one_piece_pkey;
ALTER INDEX links_by_game RENAME TO links_in_one_piece_by_game;

CREATE TABLE links (LIKE links_in_one_piece INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY HASH (pid);

DO $$
BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format(
      'CREATE TABLE links_%s PARTITION OF links FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
  END LOOP;
END $$;

-- The indexes come after the rows: an index is built faster than it is filled.
INSERT INTO links SELECT * FROM links_in_one_piece;
ALTER TABLE links
  ADD PRIMARY KEY (pid, chat_id),
  ADD FOREIGN KEY (pid) REFERENCES scopes (pid);
CREATE INDEX links_by_game ON links (pid, game_id, linked_at DESC, chat_id) WHERE game_id IS NOT NULL;

DROP TABLE links_in_one_piece;
ANALYZE links;
