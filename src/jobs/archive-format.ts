/** Archives that agents of this project unpack. */
export type ArchiveFormat = 'tar' | 'tar.gz' | 'zip';

const known: Readonly<Record<string, ArchiveFormat>> = { tar: 'tar', 'tar.gz': 'tar.gz', tgz: 'tar.gz', zip: 'zip' };

/** What an artifact with these endings, or these values of its option `archive`, is for existing clients. */
const endings = /\.(tar\.(?:gz|bz2|xz|zst)|tar|tgz|tbz2|txz|tzst|zip|gz|bz2|xz|zst)$/i;

/** The archive extension of a path; undefined for any other file. */
export function archiveEnding(path: string): string | undefined {
  return endings.exec(path)?.[1]?.toLowerCase();
}

/** The format by an ending without its dot; undefined where archives of that kind are not unpacked. */
export function archiveFormat(ending: string): ArchiveFormat | undefined {
  return Object.hasOwn(known, ending) ? known[ending] : undefined;
}
