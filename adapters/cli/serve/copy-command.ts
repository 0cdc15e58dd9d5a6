import { parseArgs } from 'node:util';
import type { Result } from 'neverthrow';
import type { StorageError } from '../../../src/ports/index.js';
import { type ContentsReader, type ContentsWriter, copyContents } from '../../storage-kit/index.js';
import { doubleDashed } from '../settings/read-flags.js';
import { hasPassword, type StorePlace, storeKind, storePlace, withoutPassword } from '../settings/store-kind.js';
import { Stopped } from '../stopped.js';
import type { Terminal } from '../terminal.js';

export const copyUsage = `signalbox copy [--from STORE] [--to STORE]

Copies a whole store to a new place: all records with their indexes, so that an engine on the copy continues where the source was. Both are
then read and compared. The copy appears only when it is complete and equal; a copy that is interrupted leaves an empty schema, or a file
.NAME.….new beside the place, which can be removed. Servers may use the source meanwhile: the copy has its state at the start of the
command. To miss nothing, stop them first.

A STORE is sqlite:PATH or postgres://USER@HOST/DATABASE, with ?schema=NAME for another schema than signalbox. The target must not
exist: a new file, or a schema without a store. Secrets stay encrypted with the key of --encryption-key-file, which is not copied.

  --from STORE  the source (SIGNALBOX_COPY_FROM)
  --to STORE    the target (SIGNALBOX_COPY_TO)

A password does not belong in an option, which other users of the host can see: set it in one of these variables, PGPASSWORD or ~/.pgpass.
`;

/** `signalbox copy`: a store in another place or on another medium. */
export async function copyCommand(given: readonly string[], { environment, out }: Terminal): Promise<number> {
  const { values } = optionsFrom(given);
  const from = storeNamed('--from', values.from, environment['SIGNALBOX_COPY_FROM']);
  const to = storeNamed('--to', values.to, environment['SIGNALBOX_COPY_TO']);
  const started = performance.now();
  const source = orStop(await readerOf(from), `${from.shown} cannot be read`);
  const target = await writerOf(to).catch(async (thrown: unknown) => {
    await source.close();
    throw thrown;
  });
  if (target.isErr()) await source.close();
  const copied = await copyContents(source, orStop(target, `${to.shown} cannot be written`));
  if (copied.isErr()) {
    const { side, error } = copied.error;
    throw new Stopped(
      side === 'source'
        ? `${from.shown} cannot be read: ${error.message}`
        : `${to.shown} cannot be written: ${error.message}`,
    );
  }
  const { index, tables, rows, indexes, positions } = copied.value;
  const seconds = (performance.now() - started) / 1000;
  out(
    `${to.shown} is a copy of ${from.shown} at index ${index}: ${rows} records of ${tables} tables and ${positions} entries of ${indexes} indexes, read from both and equal, in ${seconds.toFixed(1)} s\n`,
  );
  return 0;
}

function optionsFrom(given: readonly string[]) {
  const options = { from: { type: 'string' }, to: { type: 'string' } } as const;
  try {
    return parseArgs({ args: doubleDashed(given), options });
  } catch (error) {
    throw new Stopped(`${error instanceof Error ? error.message : 'the options cannot be read'}\n\n${copyUsage}`, 2);
  }
}

/** `shown` has no password. */
interface Store {
  readonly place: Exclude<StorePlace, { readonly type: 'memory' }>;
  readonly shown: string;
}

function storeNamed(option: '--from' | '--to', flag: string | undefined, variable: string | undefined): Store {
  const text = flag ?? variable ?? '';
  if (text === '') throw new Stopped(`${option} needs a store\n\n${copyUsage}`, 2);
  const value = storeKind.fromText(text).match(String, ({ reason = storeKind.takes }) => {
    throw new Stopped(`${option} ${reason}`, 2);
  });
  if (flag !== undefined && hasPassword(value))
    throw new Stopped(
      `${option} has a password, which other users of this host can see: set SIGNALBOX_COPY_${option === '--from' ? 'FROM' : 'TO'} or PGPASSWORD`,
      2,
    );
  const place = storePlace(value);
  if (place.type === 'memory') throw new Stopped(`${option}: a store in memory is accessible only to its server`, 2);
  return { place, shown: withoutPassword(value) };
}

async function readerOf({ place }: Store): Promise<Result<ContentsReader, StorageError>> {
  if (place.type === 'sqlite') return (await import('../../sqlite/sqlite-contents.js')).readSqlite(place.path);
  return (await import('../../postgres/postgres-contents.js')).readPostgres(place);
}

async function writerOf({ place }: Store): Promise<Result<ContentsWriter, StorageError>> {
  if (place.type === 'sqlite') return (await import('../../sqlite/sqlite-contents.js')).writeSqlite(place.path);
  return (await import('../../postgres/postgres-contents.js')).writePostgres(place);
}

function orStop<T>(result: Result<T, StorageError>, failed: string): T {
  return result.match(
    (value) => value,
    ({ message }) => {
      throw new Stopped(`${failed}: ${message}`);
    },
  );
}
