import { Context } from "effect";

/** The public URL of the service, and where sessions may redirect browsers. */
export interface Address {
  /** Without a trailing slash; null without the HTTP interface. */
  readonly publicUrl: string | null;
  readonly redirectOrigins: ReadonlyArray<string>;
}

export const PublicAddress = Context.Reference<Address>("accountlink/PublicAddress", {
  defaultValue: () => ({ publicUrl: null, redirectOrigins: [] }),
});
