import { Context } from "effect";

/** Where browsers reach the service, and where it may send them in the end. */
export interface Address {
  /** Without a trailing slash; null if the HTTP interface is not mounted. */
  readonly publicUrl: string | null;
  /** Origins of redirects of sessions. */
  readonly redirectOrigins: ReadonlyArray<string>;
}

/** The address of this service. */
export const PublicAddress = Context.Reference<Address>("accountlink/PublicAddress", {
  defaultValue: () => ({ publicUrl: null, redirectOrigins: [] }),
});
