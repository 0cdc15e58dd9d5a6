import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

/** The answer for a name: its addresses, its absence, or no answer. */
export type NameAnswer = readonly string[] | 'missing' | 'silent';

export interface NameServer {
  /** `address:port`, the form for resolvers. */
  readonly address: string;
  /** The queries so far, `A name` or `AAAA name`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const types: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };

/** A real DNS server over UDP on a free loopback port. IPv4 addresses answer A queries, others AAAA queries. */
export async function startNameServer(
  answer: (name: string) => NameAnswer | Promise<NameAnswer>,
  ttl = 60,
): Promise<NameServer> {
  const socket: Socket = createSocket('udp4');
  const asked: string[] = [];
  const reply = async (query: Buffer, from: { readonly port: number; readonly address: string }): Promise<void> => {
    const { name, type, end } = questionOf(query);
    asked.push(`${types[type] ?? type} ${name}`);
    const said = await answer(name);
    if (said === 'silent') return;
    const records = said === 'missing' ? [] : said.filter((text) => text.includes(':') === (type === 28));
    socket.send(responseTo(query, end, said === 'missing' ? 3 : 0, records, type, ttl), from.port, from.address);
  };
  socket.on('message', (query, from) => void reply(query, from));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', () => resolve()));
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function responseTo(
  query: Buffer,
  end: number,
  code: number,
  records: readonly string[],
  type: number,
  ttl: number,
): Buffer {
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  const answers = records.map((address) => {
    const data = addressBytes(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ttl, 6);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, query.subarray(12, end), ...answers]);
}

/** IPv6 as eight groups without abbreviation. */
function addressBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  return Buffer.from(
    address.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  );
}
