/** API keys of the peers. */
import { createHmac } from "node:crypto";
import { BlockList, isIPv6 } from "node:net";

/** A key as it is remembered. */
export interface Key {
  readonly id: string;
  readonly pid: string;
  readonly tier: string;
  readonly status: string;
  readonly expiresAt: number | null;
  readonly limits: { readonly perWindow: number; readonly windowMs: number; readonly daily: number };
  readonly allowed: BlockList | null;
  readonly denied: BlockList | null;
}

/** For how long a key is trusted without another look into the storage, in milliseconds: so a revocation holds. */
export const keyFreshness = 750;

/** The one scope. */
export const pid = "pid_0000000000000000";

const secret = Buffer.alloc(32, "secret");

/** What a key is stored under. */
export const hashOf = (token: string) => createHmac("sha256", secret).update(token).digest("base64url");

/** Reads a row of a table that holds limits and addresses as JSON. */
export const keyOf = (row: Readonly<Record<string, unknown>>): Key => ({
  id: String(row["id"]),
  pid: String(row["pid"]),
  tier: String(row["tier"]),
  status: String(row["status"]),
  expiresAt: row["expires_at"] === null ? null : Number(row["expires_at"]),
  limits: JSON.parse(String(row["limits"])) as Key["limits"],
  allowed: addressList(String(row["allow_ips"])),
  denied: addressList(String(row["deny_ips"])),
});

const addressList = (json: string): BlockList | null => {
  const entries = JSON.parse(json) as Array<string>;
  if (entries.length === 0) return null;
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
};

/** Whether its lists let the key be used from an address. */
export const isAllowedFrom = ({ allowed, denied }: Key, ip: string): boolean => {
  if (allowed === null && denied === null) return true;
  const family = isIPv6(ip) ? "ipv6" : "ipv4";
  return denied?.check(ip, family) !== true && allowed?.check(ip, family) !== false;
};
