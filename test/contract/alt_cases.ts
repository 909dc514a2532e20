/** Crafted cases of alt detection, with what the contract gives them, computed by hand. */
import type { KeyOptions, SeenAt } from "../support/fixtures.ts";

export const [home, school, elsewhere, vpn] = [
  "203.0.113.7",
  "203.0.113.8",
  "203.0.113.9",
  "198.51.100.7",
] as const;
export const target = "100001";
const others = Array.from({ length: 39 }, (_, index) => String(100_002 + index));
const now = Date.now();
export const daysAgo = (days: number) => new Date(now - days * 86_400_000).toISOString();

/** Chat users were seen at an address. */
export const seen = (ip: string, chatIds: ReadonlyArray<string>, days = 0): ReadonlyArray<SeenAt> =>
  chatIds.map((chatId, index) => ({
    chatId,
    ip,
    seenAt: new Date(Date.parse(daysAgo(days)) - index).toISOString(),
  }));

/** Chat users were seen in a browser. */
const seenIn = (device: string, ...where: Parameters<typeof seen>): ReadonlyArray<SeenAt> =>
  seen(...where).map((sighting) => ({ ...sighting, device }));

interface Crafted {
  readonly title: string;
  readonly sightings?: ReadonlyArray<SeenAt>;
  readonly links?: NonNullable<KeyOptions["links"]>;
  /** The target when left out. */
  readonly query?: string;
  /** From 0 to 100: how strong the best reason is. The score follows from it and from the VPN. */
  readonly alt: number;
  readonly vpn?: number;
  readonly unlisted?: number;
  readonly matches: ReadonlyArray<string>;
}

export const [one = "", two = "", three = ""] = others;

export const crafted: ReadonlyArray<Crafted> = [
  { title: "nobody", alt: 0, matches: [] },
  {
    title: "an address of two, seen now",
    sightings: seen(home, [target, one]),
    alt: 35,
    matches: [one],
  },
  {
    title: "an address of two, seen by the candidate half of a half-life ago",
    sightings: [...seen(home, [target]), ...seen(home, [one], 45)],
    alt: 25,
    matches: [one],
  },
  {
    title: "an address of two, seen by the target long ago",
    sightings: [...seen(home, [target], 150), ...seen(home, [one])],
    alt: 35,
    matches: [one],
  },
  {
    title: "an old address of many",
    sightings: [...seen(school, [target, ...others.slice(0, 9)], 170)],
    links: { [one]: "2" },
    alt: 2,
    matches: others.slice(0, 9),
  },
  {
    title: "an address of eight, who do not add up",
    sightings: seen(school, [target, ...others.slice(0, 7)]),
    alt: 9,
    matches: others.slice(0, 7),
  },
  {
    title: "two addresses in common, which count together",
    sightings: [...seen(home, [target, one]), ...seen(elsewhere, [target, one], 90)],
    alt: 46,
    matches: [one],
  },
  {
    title: "three addresses in common, which stay below CRITICAL",
    sightings: [home, school, elsewhere].flatMap((ip) => seen(ip, [target, one])),
    alt: 60,
    matches: [one],
  },
  {
    title: "two candidates, the freshest first, the strongest decides",
    sightings: [...seen(home, [target, two]), ...seen(elsewhere, [target]), ...seen(elsewhere, [one], 1)],
    alt: 35,
    matches: [two, one],
  },
  {
    title: "a browser of two, seen now",
    sightings: [...seenIn("phone", home, [target]), ...seenIn("phone", elsewhere, [one])],
    alt: 70,
    matches: [one],
  },
  {
    title: "a browser of two, seen by the candidate almost a half-life ago",
    // Not quite: then it is swept.
    sightings: [...seenIn("phone", home, [target]), ...seenIn("phone", elsewhere, [one], 179.9)],
    alt: 35,
    matches: [one],
  },
  {
    title: "a browser of twenty",
    sightings: [...seenIn("computer", home, [target]), ...seenIn("computer", elsewhere, others.slice(0, 19))],
    alt: 35,
    matches: others.slice(0, 19),
  },
  {
    title: "two browsers in common, of which the best counts",
    sightings: [
      ...seenIn("phone", home, [target]),
      ...seenIn("computer", school, [target]),
      ...seenIn("phone", elsewhere, [one], 90),
      ...seenIn("computer", "203.0.113.10", [one]),
    ],
    alt: 70,
    matches: [one],
  },
  {
    title: "a browser and an address",
    sightings: [...seenIn("phone", home, [target]), ...seenIn("phone", home, [one], 45)],
    alt: 69,
    matches: [one],
  },
  {
    title: "a game, a browser and an address",
    links: { [target]: "1", [one]: "1" },
    sightings: [...seenIn("phone", home, [target]), ...seenIn("phone", home, [one], 45)],
    alt: 97,
    matches: [one],
  },
  {
    title: "one game",
    links: { [target]: "1", [one]: "1", [two]: "2" },
    alt: 90,
    matches: [one],
  },
  {
    title: "one game and one address",
    links: { [target]: "1", [one]: "1" },
    sightings: seen(home, [target, one], 45),
    alt: 92,
    matches: [one],
  },
  {
    title: "a VPN, half of the addresses",
    sightings: [...seen(home, [target, one]), ...seen(vpn, [target])],
    alt: 35,
    vpn: 50,
    matches: [one],
  },
  {
    title: "a VPN alone",
    sightings: seen(vpn, [target, one]),
    alt: 35,
    vpn: 100,
    matches: [one],
  },
  {
    title: "two addresses of one /64",
    sightings: [...seen("2001:db8:1:2::1", [target]), ...seen("2001:db8:1:2:3::4", [one])],
    alt: 35,
    matches: [one],
  },
  {
    title: "an address that is asked about, with nobody's own",
    query: `ip=${home}`,
    sightings: seen(home, [one, two]),
    alt: 35,
    matches: [one, two],
  },
  {
    title: "an address that is asked about, mapped into IPv6",
    query: `ip=${encodeURIComponent(`::ffff:${home}`)}&chatId=${target}`,
    sightings: seen(home, [one]),
    alt: 35,
    matches: [one],
  },
  {
    title: "a game that is asked about: its newest chat user is the target, the others are candidates",
    query: "gameId=1",
    links: {
      [one]: { gameId: "1", at: daysAgo(2) },
      [target]: { gameId: "1", at: daysAgo(1) },
      [two]: "2",
    },
    sightings: seen(home, [one, three], 45),
    alt: 92,
    matches: [one, three],
  },
  {
    title: "a game whose other chat user was seen in a browser with somebody else",
    query: "gameId=1",
    links: { [one]: { gameId: "1", at: daysAgo(2) }, [target]: { gameId: "1", at: daysAgo(1) } },
    sightings: [...seenIn("phone", home, [one]), ...seenIn("phone", elsewhere, [two])],
    alt: 98,
    matches: [one, two],
  },
  {
    title: "more than are returned, of whom one that is not decides",
    sightings: seen(school, [target, ...others]),
    links: { [target]: "1", [others[38] ?? ""]: "1" },
    alt: 90,
    unlisted: 0.90035,
    matches: others.slice(0, 25),
  },
  {
    title: "another scope's sightings",
    sightings: seenIn("phone", elsewhere, [target]),
    alt: 0,
    matches: [],
  },
];
