import { firstSignal } from './first-signal.js';
import type { Terminal } from './terminal.js';

interface LocalCommand {
  readonly usage: string;
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** Commands that run or manage a server on this host. Each is loaded lazily, because the engine is the largest part of the program. */
export const localCommands: ReadonlyMap<string, () => Promise<LocalCommand>> = new Map(
  Object.entries({
    serve: async () => ({ usage: (await import('./serve/serve-options.js')).serveUsage, run: serveUntilSignal }),
    config: async () => {
      const { configUsage, configCommand } = await import('./settings/config-command.js');
      return { usage: configUsage, run: configCommand };
    },
    'new-key': async () => {
      const { keyUsage, newKeyCommand } = await import('./serve/encryption-keys.js');
      return { usage: keyUsage, run: newKeyCommand };
    },
    backup: async () => {
      const { backupUsage, backupCommand } = await import('./serve/backup-command.js');
      return { usage: backupUsage, run: backupCommand };
    },
    copy: async () => {
      const { copyUsage, copyCommand } = await import('./serve/copy-command.js');
      return { usage: copyUsage, run: copyCommand };
    },
    export: async () => {
      const { exportUsage, exportCommand } = await import('./serve/export-command.js');
      return { usage: exportUsage, run: exportCommand };
    },
    play: async () => {
      const { playUsage, playCommand } = await import('./play/play-command.js');
      return { usage: playUsage, run: playCommand };
    },
  }),
);

/** The help page with all settings of a server. */
export async function settingsHelp(): Promise<string> {
  return (await import('./serve/serve-options.js')).settingsUsage;
}

/** Serves until SIGTERM or SIGINT, then drains; a second signal ends the process at once. */
async function serveUntilSignal(args: readonly string[], terminal: Terminal): Promise<number> {
  const signalled = firstSignal();
  const { serve } = await import('./serve/serve.js');
  const running = await serve(args, terminal);
  await signalled;
  await running.stop();
  return 0;
}
