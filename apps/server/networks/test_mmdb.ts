/** For tests: writes small databases in mmdb format. https://maxmind.github.io/MaxMind-DB/ */

type Value = boolean | number | string | { readonly [name: string]: Value };

/** What an address bit leads to in the search tree: a node, the data of a network, or nothing. */
type Branch = Node | { readonly data: number } | undefined;
type Node = { readonly branches: [Branch, Branch]; number: number };

/**
 * Makes a database in mmdb format.
 *
 * @param networks the record of each network, by the bits of the network: `00001010` for 10.0.0.0/8 in an IPv4 database
 */
export const makeMmdb = (networks: Readonly<Record<string, Value>>, ipVersion: 4 | 6): Buffer => {
  const nodes: Array<Node> = [];
  const newNode = (): Node => {
    const node: Node = { branches: [undefined, undefined], number: nodes.length };
    nodes.push(node);
    return node;
  };
  const root = newNode();
  const records: Array<Buffer> = [];
  let dataLength = 0;
  for (const [bits, record] of Object.entries(networks)) {
    let node = root;
    for (const bit of bits.slice(0, -1)) {
      const next = node.branches[Number(bit)];
      const child = next !== undefined && "branches" in next ? next : newNode();
      node.branches[Number(bit)] = child;
      node = child;
    }
    node.branches[Number(bits.at(-1))] = { data: dataLength };
    const encoded = encode(record);
    records.push(encoded);
    dataLength += encoded.length;
  }
  const tree = Buffer.alloc(nodes.length * 6);
  for (const { branches, number } of nodes) {
    for (const [side, branch] of branches.entries()) {
      tree.writeUIntBE(recordOf(branch, nodes.length), number * 6 + side * 3, 3);
    }
  }
  const metadata = encode({
    node_count: nodes.length,
    record_size: 24,
    ip_version: ipVersion,
    database_type: "Test",
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_767_225_600,
  });
  const marker = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
  return Buffer.concat([tree, Buffer.alloc(16), ...records, marker, metadata]);
};

const recordOf = (branch: Branch, nodes: number): number => {
  if (branch === undefined) return nodes;
  return "data" in branch ? nodes + 16 + branch.data : branch.number;
};

const encode = (value: Value): Buffer => {
  // Extended types have a control byte with the size, then the number of the type minus 7.
  if (typeof value === "boolean") return Buffer.from([value ? 1 : 0, 7]);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([Buffer.from([(6 << 5) | 4]), bytes]);
  }
  if (typeof value === "string")
    return Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)]);
  const entries = Object.entries(value);
  return Buffer.concat([Buffer.from([(7 << 5) | entries.length]), ...entries.flat().map(encode)]);
};

/** Returns the first `prefixLength` bits of an IPv4 address as text, such as `00001010`. */
export const bitsOf = (address: string, prefixLength: number): string =>
  address
    .split(".")
    .map((octet) => Number(octet).toString(2).padStart(8, "0"))
    .join("")
    .slice(0, prefixLength);
