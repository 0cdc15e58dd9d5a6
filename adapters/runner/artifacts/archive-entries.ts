import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ArchiveFormat } from '../../../src/jobs/archive-format.js';

/** One entry of an archive. `content` must be consumed before the next entry arrives. */
export interface ArchiveEntry {
  /** As written in the archive, unchecked. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link' | 'symlink' | 'other';
  /** Permissions; undefined if the archive contains none. */
  readonly mode: number | undefined;
  /** The target of a link. */
  readonly target: string;
  readonly content: () => Promise<AsyncIterable<Uint8Array>>;
}

/** The optional packages that read archives are not installed. */
export class ArchivesUnread extends Error {}

/** The most bytes of headers between two entries of a tar file. */
const longestHeader = 4 * 1024 * 1024;

/** The most bytes of a link's target in a zip file. */
const longestTarget = 4096;

/** Whether the optional packages that read archives are installed. */
export function canReadArchives(): boolean {
  try {
    // In a bundle the module's location may be unknown; then no package can be resolved.
    const { resolve } = createRequire(import.meta.url);
    return ['tar-stream', 'yauzl'].every((name) => resolve(name) !== '');
  } catch {
    return false;
  }
}

/** The used part of `tar-stream`. */
interface TarLibrary {
  extract(): TarExtract;
}

interface TarExtract extends NodeJS.WritableStream {
  [Symbol.asyncIterator](): AsyncIterator<TarEntry>;
}

interface TarEntry extends AsyncIterable<Uint8Array> {
  readonly header: {
    readonly name: string;
    readonly type?: string | null;
    readonly mode?: number;
    readonly linkname?: string | null;
  };
  resume(): unknown;
}

/** The used part of `yauzl`. */
interface ZipLibrary {
  open(
    path: string,
    options: { readonly lazyEntries: true; readonly autoClose: false; readonly strictFileNames: true },
    done: (error: Error | null, zip: ZipFile) => void,
  ): void;
}

interface ZipFile extends NodeJS.EventEmitter {
  readEntry(): void;
  close(): void;
  openReadStream(entry: ZipEntry, done: (error: Error | null, stream: Readable) => void): void;
}

interface ZipEntry {
  readonly fileName: string;
  readonly versionMadeBy: number;
  readonly externalFileAttributes: number;
}

function loadLibraries(): { readonly tar: TarLibrary; readonly zip: ZipLibrary } {
  const load = createRequire(import.meta.url);
  try {
    return { tar: load('tar-stream') as TarLibrary, zip: load('yauzl') as ZipLibrary };
  } catch {
    throw new ArchivesUnread('the optional packages "tar-stream" and "yauzl" are not installed on the node');
  }
}

/** The entries of an archive, in its order. Throws if it is damaged. */
export async function* entriesOf(file: string, format: ArchiveFormat): AsyncGenerator<ArchiveEntry, void> {
  const { tar, zip } = loadLibraries();
  if (format === 'zip') yield* zipEntries(await openZip(zip, file));
  else yield* tarEntries(tar.extract(), createReadStream(file), format === 'tar.gz');
}

async function* tarEntries(extract: TarExtract, file: Readable, packed: boolean): AsyncGenerator<ArchiveEntry, void> {
  // The library buffers a header until it is complete, whatever its declared length.
  let ahead = 0;
  const meter = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      ahead += chunk.length;
      if (ahead > longestHeader) done(new Error('a tar header is too long'));
      else done(null, chunk);
    },
  });
  async function* metered(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const bytes of stream) {
      ahead = 0;
      yield bytes;
    }
  }
  const parts = [file, ...(packed ? [createGunzip()] : []), meter, extract];
  // An error here ends the iteration below.
  pipeline(parts as NodeJS.ReadWriteStream[], () => undefined);
  try {
    for await (const entry of extract) {
      ahead = 0;
      const { name, type, mode, linkname } = entry.header;
      const kind = tarTypes[type ?? 'file'] ?? 'other';
      if (kind !== 'file') entry.resume();
      yield {
        path: name,
        type: kind,
        mode,
        target: linkname ?? '',
        content: async () => metered(entry),
      };
    }
  } finally {
    file.destroy();
  }
}

const tarTypes: Readonly<Record<string, ArchiveEntry['type']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'directory',
  link: 'link',
  symlink: 'symlink',
};

function openZip(zip: ZipLibrary, file: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    zip.open(file, { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    );
  });
}

async function* zipEntries(zip: ZipFile): AsyncGenerator<ArchiveEntry, void> {
  try {
    for (;;) {
      const entry = await nextEntry(zip);
      if (entry === undefined) return;
      yield await zipEntry(zip, entry);
    }
  } finally {
    zip.close();
  }
}

function nextEntry(zip: ZipFile): Promise<ZipEntry | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      zip.removeListener('entry', onEntry).removeListener('end', onEnd).removeListener('error', onError);
      then();
    };
    const onEntry = (entry: ZipEntry): void => settle(() => resolve(entry));
    const onEnd = (): void => settle(() => resolve(undefined));
    const onError = (error: Error): void => settle(() => reject(error));
    zip.on('entry', onEntry).on('end', onEnd).on('error', onError);
    zip.readEntry();
  });
}

const [unix, fileKind, linkKind, folderKind, regularKind] = [3, 0o170000, 0o120000, 0o040000, 0o100000];

async function zipEntry(zip: ZipFile, entry: ZipEntry): Promise<ArchiveEntry> {
  const attributes = entry.versionMadeBy >> 8 === unix ? entry.externalFileAttributes >>> 16 : 0;
  const mode = attributes === 0 ? undefined : attributes & 0o7777;
  const path = entry.fileName;
  const content = (): Promise<Readable> => openEntry(zip, entry);
  const kind = attributes & fileKind;
  if (path.endsWith('/') || kind === folderKind) return { path, type: 'directory', mode, target: '', content };
  if (kind === linkKind) {
    return { path, type: 'symlink', mode, target: await shortText(await content()), content };
  }
  const type = kind === 0 || kind === regularKind ? 'file' : 'other';
  return { path, type, mode, target: '', content };
}

function openEntry(zip: ZipFile, entry: ZipEntry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  });
}

async function shortText(stream: Readable): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > longestTarget) throw new Error('the target of a link is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
