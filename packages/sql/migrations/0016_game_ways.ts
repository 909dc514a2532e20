/** Adds what a flow knows of game accounts before one is proven. */
import { changeSchema } from "./change_schema.ts";

export const gameWays = changeSchema(`
  ALTER TABLE verification_flows ADD COLUMN connections TEXT;
  ALTER TABLE verification_flows ADD COLUMN named_game_id TEXT;
  ALTER TABLE verification_flows ADD COLUMN word_seed TEXT
`);
