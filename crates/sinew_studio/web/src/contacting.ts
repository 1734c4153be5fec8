// When feet stand in the clip of the timeline: found by the server, changed by hand.
import { socket, store } from './app';
import { Emitter } from './emitter';
import type { Contact, ContactTrack } from './net/protocol';
import type { Player } from './player';
import { change } from './ruling';

class Contacting extends Emitter<{ change: null }> {
  track: ContactTrack | null = null;
  chosen: number | null = null;
  /** Why there is none. */
  why = '';
  private asked = '';

  /** Keep up with the clip that is chosen, as long as the tab is open. */
  watch(player: Player): void {
    let isOpen = false;
    const look = (): void => void (isOpen ? this.look(player.clip?.name ?? null) : this.take(null));
    store.on('tab', (tab) => {
      isOpen = tab === 'refit';
      look();
    });
    store.on('doc', look);
    player.on('change', look);
  }

  async set(contacts: Contact[] | null): Promise<void> {
    if (!this.track) return;
    const { clip, fps } = this.track;
    // Shown at once; the server says the same a moment later.
    if (contacts) this.take({ ...this.track, contacts, edited: true });
    await change({ contacts: { clip, fps, contacts } });
  }

  remove(index: number): void {
    if (!this.track) return;
    this.chosen = null;
    void this.set(this.track.contacts.filter((_, i) => i !== index));
  }

  private take(track: ContactTrack | null, why = ''): void {
    this.track = track;
    this.why = why;
    if (!track) this.asked = '';
    if (this.chosen !== null && this.chosen >= (track?.contacts.length ?? 0)) this.chosen = null;
    this.emit('change', null);
  }

  private async look(clip: string | null): Promise<void> {
    if (clip === null || !store.doc || store.doc.joints === 0) return this.track ? this.take(null) : undefined;
    const edited = store.doc.rules.contacts.find((other) => other.clip === clip);
    const key = JSON.stringify([store.doc.document, clip, store.doc.clips, edited]);
    if (key === this.asked) return;
    this.asked = key;
    try {
      const track = await socket.ask<ContactTrack>({ type: 'contacts', clip });
      if (this.asked === key) this.take(track);
    } catch (error) {
      if (this.asked !== key) return;
      this.take(null, error instanceof Error ? error.message : '');
      this.asked = key;
    }
  }
}

export const contacting = new Contacting();
