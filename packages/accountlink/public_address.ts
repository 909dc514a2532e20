import { Context } from "effect";

/** The public URL of the service, and the origins to which its sessions may redirect browsers. */
export interface Address {
  /** The public URL of the service, without a trailing slash; null if the program does not serve the HTTP interface. */
  readonly publicUrl: string | null;
  readonly redirectOrigins: ReadonlyArray<string>;
}

export const PublicAddress = Context.Reference<Address>("accountlink/PublicAddress", {
  defaultValue: () => ({ publicUrl: null, redirectOrigins: [] }),
});
