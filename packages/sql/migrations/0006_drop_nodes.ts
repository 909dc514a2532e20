/** Drops the table of live nodes: a node that counts requests alone no longer needs to know the others. */
import { changeSchema } from "./change_schema.ts";

export const dropNodes = changeSchema("DROP TABLE nodes");
