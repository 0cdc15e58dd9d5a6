/** Archives that agents of this project unpack. */
export type ArchiveFormat = 'tar' | 'tar.gz' | 'zip';

const known: Readonly<Record<string, ArchiveFormat>> = { tar: 'tar', 'tar.gz': 'tar.gz', tgz: 'tar.gz', zip: 'zip' };

/** Endings, and values of the option `archive`, that existing clients treat as archives. */
const endings = /\.(tar\.(?:gz|bz2|xz|zst)|tar|tgz|tbz2|txz|tzst|zip|gz|bz2|xz|zst)$/i;

/** The archive extension of a path; undefined for any other file. */
export function archiveEnding(path: string): string | undefined {
  return endings.exec(path)?.[1]?.toLowerCase();
}

/** The format of an ending without its dot; undefined for archives that agents do not unpack. */
export function archiveFormat(ending: string): ArchiveFormat | undefined {
  return Object.hasOwn(known, ending) ? known[ending] : undefined;
}
