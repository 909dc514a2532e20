/** Stores the files that owners upload, so that later requests can read them. */
import type { StoreUnavailable } from "@accountlink/core";
import type { Effect, Stream } from "effect";

/** The most bytes that a process stores in uploaded files at a time. @internal */
export const maxUploadsSize = 100_000_000;

/** Creates files that belong to this process and disappear with it. @internal */
export interface UploadFolder {
  readonly create: Effect.Effect<UploadedFile, StoreUnavailable>;
}

/** @internal */
export interface UploadedFile {
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, StoreUnavailable>;
  /** Reads the whole file; each run starts at the beginning. */
  readonly read: Stream.Stream<Uint8Array, StoreUnavailable>;
  readonly remove: Effect.Effect<void>;
}
