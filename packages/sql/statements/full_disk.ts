/** The full disk error, which is logged once instead of for each operation. */
import { SqlError } from "effect/sql";

/** The disk of the database is full. `logFullDisk` logs it, so failed operations do not. */
export class FullDisk extends SqlError.ConnectionError {}
