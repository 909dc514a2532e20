/** Files that owners upload, kept between their requests. */
import type { StoreUnavailable } from "@accountlink/core";
import type { Effect, Stream } from "effect";

/**
 * The size of all files together that a process keeps at a time, in bytes.
 *
 * @internal
 */
export const maxUploadsSize = 100_000_000;

/**
 * Makes files. They are of one process, and gone with it.
 *
 * @internal
 */
export interface UploadFolder {
  readonly create: Effect.Effect<UploadedFile, StoreUnavailable>;
}

/** @internal */
export interface UploadedFile {
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, StoreUnavailable>;
  /** All of it, from the start each time. */
  readonly read: Stream.Stream<Uint8Array, StoreUnavailable>;
  readonly remove: Effect.Effect<void>;
}
