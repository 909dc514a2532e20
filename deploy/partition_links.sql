-- Partitions the table of links into 16 by the hash of their scope, in Postgres. Run it once, after
-- `accountlink migrate` and with all nodes stopped, since it locks the table until it is done:
--
--   psql --set=ON_ERROR_STOP=1 --single-transaction --file=deploy/partition_links.sql "$ACCOUNTLINK_DATABASE_URL"
--
-- The nodes' configuration does not change.

LOCK TABLE links IN ACCESS EXCLUSIVE MODE;
ALTER TABLE links RENAME TO links_in_one_piece;
ALTER TABLE links_in_one_piece DROP CONSTRAINT links_pid_fkey;
ALTER INDEX links_pkey RENAME TO links_in_one_piece_pkey;
ALTER INDEX links_by_game RENAME TO links_in_one_piece_by_game;
ALTER INDEX links_by_verification RENAME TO links_in_one_piece_by_verification;
ALTER INDEX links_by_user RENAME TO links_in_one_piece_by_user;

CREATE TABLE links (LIKE links_in_one_piece INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY HASH (pid);

DO $$
BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format(
      'CREATE TABLE links_%s PARTITION OF links FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
  END LOOP;
END $$;

-- Creating the indexes after the rows is faster.
INSERT INTO links SELECT * FROM links_in_one_piece;
ALTER TABLE links
  ADD PRIMARY KEY (pid, chat_id),
  ADD FOREIGN KEY (pid) REFERENCES scopes (pid);
CREATE INDEX links_by_game ON links (pid, game_id, linked_at DESC, chat_id) WHERE game_id IS NOT NULL;
CREATE INDEX links_by_verification ON links (pid, last_verified_at DESC, chat_id, game_id) WHERE game_id IS NOT NULL;
CREATE INDEX links_by_user ON links (chat_id);

DROP TABLE links_in_one_piece;
ANALYZE links;
