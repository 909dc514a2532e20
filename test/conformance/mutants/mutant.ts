/** A mistake of a store: a change of the text of one file of storage-memory. */
export interface Mutant {
  readonly mistake: string;
  /** The path in `packages/storage-memory`. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
}
