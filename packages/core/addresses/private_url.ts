/** URLs to which requests with a secret may go. */
import { Option } from "effect";
import { inAny, parseAddress, parseNetwork } from "./client_address.ts";

/** Names without a dot and in reserved domains are never public. */
const privateName = /^[^.:]+$|\.(?:localhost|local|internal|lan|home\.arpa|test)$/iu;

const privateNetworks = [
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "::1",
  "fc00::/7",
  "fe80::/10",
].flatMap((network) => Option.toArray(parseNetwork(network)));

/** Describes URLs that `isPrivateUrl` accepts, for error messages. @internal */
export const expectedPrivateUrl =
  "an https URL without credentials, query and fragment, or http to an address that is not public";

/** Whether requests below a URL may have a secret: by https, or by http to an address that is not public. @internal */
export const isPrivateUrl = (text: string): boolean => {
  const url = /^https?:\/\/[^?#]*$/u.test(text) ? URL.parse(text) : null;
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || isPrivateHost(url.hostname);
};

const isPrivateHost = (hostname: string): boolean =>
  Option.match(parseAddress(hostname.replace(/^\[|\]$/gu, "")), {
    onNone: () => privateName.test(hostname),
    onSome: (address) => inAny(privateNetworks, address),
  });
