import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from 'node:zlib';

export interface KeptBody {
  readonly body: string;
  readonly truncated: boolean;
}

/** The bytes as a string; truncated ones end at a character boundary. */
export function keptBody(bytes: Buffer, truncated: boolean): KeptBody {
  return { body: bytes.toString('utf8', 0, truncated ? characterEnd(bytes) : bytes.length), truncated };
}

/** The length without an incomplete last character. */
function characterEnd(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

type Encoding = 'gzip' | 'deflate' | 'br';

/** The encoding of a content-encoding header, if it can be decoded; null for none, several or unknown ones. */
export function encodingOf(header: string): Encoding | null {
  switch (header.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'deflate':
      return 'deflate';
    case 'br':
      return 'br';
    default:
      return null;
  }
}

/**
 * Decodes up to `cap` bytes, so that a decompression bomb costs no more than the cap. Damaged or truncated input gives the part
 * that could be decoded. Never rejects.
 */
export function decodedBody(bytes: Buffer, encoding: Encoding, cap: number, truncated: boolean): Promise<KeptBody> {
  return new Promise((resolve) => {
    const decoder = decoderOf(encoding);
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (cut: boolean): void => {
      decoder.destroy();
      resolve(keptBody(Buffer.concat(chunks), cut));
    };
    decoder.on('data', (chunk: Buffer) => {
      const room = cap - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += chunk.length;
      if (size > cap) finish(true);
    });
    decoder.on('end', () => finish(truncated));
    decoder.on('error', () => finish(true));
    decoder.end(bytes);
  });
}

function decoderOf(encoding: Encoding): ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress> {
  switch (encoding) {
    case 'gzip':
      return createGunzip({ finishFlush: zlib.Z_SYNC_FLUSH });
    case 'deflate':
      return createInflate({ finishFlush: zlib.Z_SYNC_FLUSH });
    case 'br':
      return createBrotliDecompress({ finishFlush: zlib.BROTLI_OPERATION_FLUSH });
  }
}
