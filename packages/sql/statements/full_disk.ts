/** The failure that operators hear of once. */
import { SqlError } from "effect/sql";

/** The disk of the database is full. `logFullDisk` logs it, so that no failed operation does. */
export class FullDisk extends SqlError.ConnectionError {}
