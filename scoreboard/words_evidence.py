"""The words around clips and stills in Latvian, English and German."""

from __future__ import annotations

from typing import Final

from rules.words import Lang

EVIDENCE_WORDS: Final[dict[str, dict[Lang, str]]] = {
    "evidence": {"lv": "Pierādījums", "en": "Evidence", "de": "Beweis"},
    "evidence_all": {"lv": "Visi ieraksti", "en": "All clips", "de": "Alle Aufnahmen"},
    "evidence_none": {"lv": "Vēl nav neviena ieraksta.", "en": "No clips yet.", "de": "Noch keine Aufnahmen."},
    "evidence_of": {"lv": "{n}. ieraksta pierādījums", "en": "Evidence for entry {n}", "de": "Beweis zu Eintrag {n}"},
    "still": {
        "lv": "Attēls ar mērījumu: galds, disku ceļi, attālums līdz līnijai un pirmā skare",
        "en": "Still with what was measured: the table, the discs' ways, the distance to the line and the first contact",
        "de": "Bild mit Messung: Tisch, Wege der Scheiben, Abstand zur Linie und erste Berührung",
    },
    "clip": {"lv": "Video", "en": "Clip", "de": "Clip"},
    "to_clip": {"lv": "Video un attēls", "en": "Clip and still", "de": "Clip und Bild"},
    "play": {"lv": "Atskaņot / pauze", "en": "Play / pause", "de": "Abspielen / Pause"},
    "quarter": {"lv": "Ceturtdaļas ātrums", "en": "Quarter speed", "de": "Viertel Tempo"},
    "frame_back": {"lv": "Kadru atpakaļ", "en": "One frame back", "de": "Ein Bild zurück"},
    "frame_on": {"lv": "Kadru uz priekšu", "en": "One frame on", "de": "Ein Bild vor"},
    "to_moment": {"lv": "Uz izšķirošo kadru", "en": "To the deciding frame", "de": "Zum entscheidenden Bild"},
    "seek": {"lv": "Kadrs", "en": "Frame", "de": "Bild"},
    "keys": {
        "lv": "Taustiņi: atstarpe, ← →, Q ceturtdaļa, M izšķirošais kadrs",
        "en": "Keys: space, ← →, Q quarter speed, M deciding frame",
        "de": "Tasten: Leertaste, ← →, Q Viertel Tempo, M entscheidendes Bild",
    },
    "close_player": {"lv": "Aizvērt", "en": "Close", "de": "Schließen"},
    "save": {"lv": "Saglabāt vienā failā", "en": "Save as one file", "de": "Als eine Datei speichern"},
    "keep": {"lv": "Paturēt", "en": "Keep", "de": "Behalten"},
    "keep_no_more": {"lv": "Vairs nepaturēt", "en": "Keep no more", "de": "Nicht mehr behalten"},
    "keep_evidence": {"lv": "Ieraksta paturēšana", "en": "Keeping a clip", "de": "Aufbewahrung eines Clips"},
    "kept_review": {"lv": "patur: lemj tiesnesis", "en": "kept: under review", "de": "bleibt: in Prüfung"},
    "kept_overridden": {"lv": "patur: lēmums labots", "en": "kept: overridden", "de": "bleibt: geändert"},
    "kept_voided": {"lv": "patur: anulēts", "en": "kept: taken back", "de": "bleibt: gestrichen"},
    "kept_judge": {"lv": "patur: tiesnesis", "en": "kept by a judge", "de": "bleibt: vom Richter"},
    "seen_at": {"lv": "Redzēts", "en": "Seen", "de": "Gesehen"},
    "no_clip_off": {
        "lv": "Bez video: šo galdu neieraksta",
        "en": "No clip: this table is not filmed",
        "de": "Kein Clip: dieser Tisch wird nicht gefilmt",
    },
    "no_clip_no_frames": {
        "lv": "Bez video: šis brīdis nav ierakstīts",
        "en": "No clip: the moment was not filmed",
        "de": "Kein Clip: der Moment wurde nicht gefilmt",
    },
    "no_clip_behind": {
        "lv": "Bez video: ierakstīšana nespēja līdzi",
        "en": "No clip: filming could not keep up",
        "de": "Kein Clip: die Aufnahme kam nicht nach",
    },
    "no_clip_disk_full": {
        "lv": "Bez video: disks ir pilns",
        "en": "No clip: the disk is full",
        "de": "Kein Clip: der Datenträger ist voll",
    },
    "no_clip_quota": {
        "lv": "Bez video: vietu aizņem paturētie ieraksti",
        "en": "No clip: kept clips fill the room",
        "de": "Kein Clip: behaltene Clips füllen den Platz",
    },
    "no_clip_failed": {"lv": "Bez video: neizdevās saglabāt", "en": "No clip: it could not be kept", "de": "Kein Clip: Speichern misslang"},
    "no_clip_waiting": {"lv": "Video tiek sagatavots …", "en": "Clip is being made …", "de": "Clip wird erstellt …"},
    "no_clip_elsewhere": {"lv": "Video ir pie galda", "en": "The clip is at the table", "de": "Der Clip liegt am Tisch"},
    "no_clip_gone": {
        "lv": "Bez video: atbrīvota vieta jaunākiem",
        "en": "No clip: it made room for newer ones",
        "de": "Kein Clip: Platz für neuere gemacht",
    },
}
