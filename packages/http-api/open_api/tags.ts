import type { Route } from "../route.ts";

export const tags = [
  { name: "Links", description: "Who is linked to whom" },
  {
    name: "Alts",
    description: "Accounts that may belong to the same person, and what moderators say of them",
  },
  { name: "Writes", description: "Links that are set, moved and removed" },
  { name: "Keys", description: "API keys that got into wrong hands" },
  { name: "Sessions", description: "Verification sessions, in which a user links both accounts" },
  { name: "Webhooks", description: "Events that the service sends to URLs of owners" },
  { name: "Dashboard", description: "The JSON of the dashboard, for owners who are signed in" },
  { name: "v1", description: "The first generation, which remains available" },
  {
    name: "Compatible",
    description:
      "The interfaces of Bloxlink, RoVer and RoWifi: a bot of theirs changes its base URL and its key",
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
