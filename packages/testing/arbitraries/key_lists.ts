import { array } from "fast-check";
import { network, redirectOrigin } from "./networks.ts";

export const addressLists = {
  allowIps: array(network, { maxLength: 3 }),
  denyIps: array(network, { maxLength: 3 }),
  redirectOrigins: array(redirectOrigin, { maxLength: 3 }),
};
