import { array } from "fast-check";
import { network, redirectOrigin } from "./networks.ts";

/** The lists of a key. */
export const addressLists = {
  allowIps: array(network, { maxLength: 3 }),
  denyIps: array(network, { maxLength: 3 }),
  redirectOrigins: array(redirectOrigin, { maxLength: 3 }),
};
