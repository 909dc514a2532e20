/** What every lookup of another service has in common. */
export const compatLookup = {
  generation: "compat",
  method: "GET",
  source: "query",
  access: "key",
  keyAccess: ["read", "verify"],
  group: "lookup",
  errors: ["INVALID_PARAMETER", "LINK_NOT_FOUND"],
} as const;
