import type { NeededRole } from "@accountlink/core/accounts";

interface Section {
  readonly path: `/dashboard${string}`;
  /** The lowest role for the pages and forms below the path. */
  readonly role: NeededRole;
  /** Sections of one group stand together in the navigation. The pages of `keys` are in English. */
  readonly group: "links" | "keys" | "account";
  /** Whether the navigation leaves the section out for accounts without keys and webhooks. */
  readonly forPrograms?: true;
}

/**
 * The sections of the dashboard, in the order of the navigation.
 *
 * @internal
 */
export const sections = {
  overview: { path: "/dashboard", role: "admin", group: "links" },
  communities: { path: "/dashboard/communities", role: "admin", group: "links" },
  links: { path: "/dashboard/links", role: "moderator", group: "links" },
  imports: { path: "/dashboard/imports", role: "admin", group: "links" },
  keys: { path: "/dashboard/keys", role: "admin_of_all", group: "keys" },
  webhooks: {
    path: "/dashboard/webhooks",
    role: "admin_of_all",
    group: "keys",
    forPrograms: true,
  },
  usage: { path: "/dashboard/usage", role: "admin_of_all", group: "keys", forPrograms: true },
  alts: { path: "/dashboard/alts", role: "moderator", group: "links" },
  events: { path: "/dashboard/events", role: "admin_of_all", group: "keys", forPrograms: true },
  audit: { path: "/dashboard/audit", role: "moderator", group: "account" },
  tryLookup: { path: "/dashboard/try", role: "admin_of_all", group: "keys", forPrograms: true },
  preview: { path: "/dashboard/preview", role: "admin", group: "account" },
  team: { path: "/dashboard/team", role: "moderator", group: "account" },
  account: { path: "/dashboard/account", role: "moderator", group: "account" },
} as const satisfies Readonly<Record<string, Section>>;

export type SectionName = keyof typeof sections;

/** Returns whether the navigation leaves the section out for accounts without keys and webhooks. */
export const isForPrograms = (name: SectionName): boolean => "forPrograms" in sections[name];

/** The content of an inline SVG for each section, from Lucide (https://lucide.dev, ISC licence). */
export const icons: Readonly<Record<SectionName, string>> = {
  overview:
    '<rect width="7" height="9" x="3" y="3" rx="1"/><rect width="7" height="5" x="14" y="3" rx="1"/><rect width="7" height="9" x="14" y="12" rx="1"/><rect width="7" height="5" x="3" y="16" rx="1"/>',
  communities:
    '<path d="M16 21v-2a4 4 0 0 0-4-4H6a4 4 0 0 0-4 4v2"/><circle cx="9" cy="7" r="4"/><path d="M22 21v-2a4 4 0 0 0-3-3.87"/><path d="M16 3.13a4 4 0 0 1 0 7.75"/>',
  links:
    '<path d="M10 13a5 5 0 0 0 7.54.54l3-3a5 5 0 0 0-7.07-7.07l-1.72 1.71"/><path d="M14 11a5 5 0 0 0-7.54-.54l-3 3a5 5 0 0 0 7.07 7.07l1.71-1.71"/>',
  imports:
    '<path d="M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4"/><path d="m17 8-5-5-5 5"/><path d="M12 3v12"/>',
  keys: '<path d="m15.5 7.5 2.3 2.3a1 1 0 0 0 1.4 0l2.1-2.1a1 1 0 0 0 0-1.4L19 4"/><path d="m21 2-9.6 9.6"/><circle cx="7.5" cy="15.5" r="5.5"/>',
  webhooks: '<path d="m22 2-7 20-4-9-9-4Z"/><path d="M22 2 11 13"/>',
  usage: '<path d="M3 3v16a2 2 0 0 0 2 2h16"/><path d="M18 17V9"/><path d="M13 17V5"/><path d="M8 17v-3"/>',
  alts: '<rect width="14" height="14" x="8" y="8" rx="2" ry="2"/><path d="M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2"/>',
  events:
    '<path d="M4 14a1 1 0 0 1-.78-1.63l9.9-10.2a.5.5 0 0 1 .86.46l-1.92 6.02A1 1 0 0 0 13 10h7a1 1 0 0 1 .78 1.63l-9.9 10.2a.5.5 0 0 1-.86-.46l1.92-6.02A1 1 0 0 0 11 14z"/>',
  audit:
    '<path d="M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8"/><path d="M3 3v5h5"/><path d="M12 7v5l4 2"/>',
  tryLookup: '<path d="m4 17 6-6-6-6"/><path d="M12 19h8"/>',
  preview:
    '<path d="M2.06 12.35a1 1 0 0 1 0-.7 10.75 10.75 0 0 1 19.88 0 1 1 0 0 1 0 .7 10.75 10.75 0 0 1-19.88 0"/><circle cx="12" cy="12" r="3"/>',
  team: '<path d="M16 21v-2a4 4 0 0 0-4-4H6a4 4 0 0 0-4 4v2"/><circle cx="9" cy="7" r="4"/><path d="M19 8v6"/><path d="M22 11h-6"/>',
  account: '<path d="M19 21v-2a4 4 0 0 0-4-4H9a4 4 0 0 0-4 4v2"/><circle cx="12" cy="7" r="4"/>',
};

/** Icons that point into the direction of reading. */
export const pointing: ReadonlySet<SectionName> = new Set(["webhooks"]);
