import type { Route } from "../route.ts";

export const tags = [
  { name: "Links", description: "Lookups of links" },
  {
    name: "Alts",
    description: "Accounts that may belong to the same person, and reviews by moderators",
  },
  { name: "Writes", description: "Setting, moving and removing links" },
  { name: "Keys", description: "Reports of leaked API keys" },
  { name: "Sessions", description: "Verification sessions, in which a user links both accounts" },
  { name: "Webhooks", description: "Events that the service sends to URLs of owners" },
  { name: "Dashboard", description: "The JSON of the dashboard, for owners who are signed in" },
  { name: "v1", description: "The first generation, which remains available" },
  {
    name: "Compatible",
    description:
      "The interfaces of Bloxlink, RoVer and RoWifi: a bot for one of them only changes its base URL and key",
  },
] as const;

type Tag = (typeof tags)[number]["name"];

const tagsByGroup: Readonly<Record<NonNullable<Route["group"]>, Tag>> = {
  lookup: "Links",
  bulk: "Links",
  alts: "Alts",
  write: "Writes",
  session: "Sessions",
};

export const tagOf = ({ access, generation, group, path }: Route): Tag => {
  if (generation === "v1") return "v1";
  if (generation === "compat") return "Compatible";
  if (access === "session") return "Dashboard";
  if (group !== null) return tagsByGroup[group];
  return path.startsWith("/v2/keys") ? "Keys" : "Sessions";
};
