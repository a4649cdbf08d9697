"""The pages' own words in Latvian, English and German. Words about rulings come from the rule book's room."""

from __future__ import annotations

from typing import Final, get_args

from rules.words import Lang
from scoreboard.words_evidence import EVIDENCE_WORDS
from scoreboard.words_judge import JUDGE_WORDS
from scoreboard.words_stats import STATS_WORDS

__all__ = ["LANGS", "LANG_NAMES", "WORDS", "Lang", "pick_lang", "word"]

LANGS: Final[tuple[Lang, ...]] = get_args(Lang)
LANG_NAMES: Final[dict[Lang, str]] = {"lv": "Latviešu", "en": "English", "de": "Deutsch"}

WORDS: Final[dict[str, dict[Lang, str]]] = {
    **JUDGE_WORDS,
    **STATS_WORDS,
    **EVIDENCE_WORDS,
    "board": {"lv": "Novusa tablo", "en": "Novuss scoreboard", "de": "Novuss-Anzeige"},
    "table": {"lv": "Galds", "en": "Table", "de": "Tisch"},
    "set_of": {"lv": "{n}. sets no {of}", "en": "Set {n} of {of}", "de": "Satz {n} von {of}"},
    "set_n": {"lv": "{n}. sets", "en": "Set {n}", "de": "Satz {n}"},
    "sets": {"lv": "Seti", "en": "Sets", "de": "Sätze"},
    "singles": {"lv": "Vienspēle", "en": "Singles", "de": "Einzel"},
    "doubles": {"lv": "Dubultspēle", "en": "Doubles", "de": "Doppel"},
    "turn": {"lv": "Sit", "en": "To play", "de": "Am Stoß"},
    "left": {"lv": "uz galda", "en": "on the table", "de": "auf dem Tisch"},
    "debt": {"lv": "Parāds", "en": "Debt", "de": "Schuld"},
    "series": {"lv": "Sērija {n}", "en": "Series {n}", "de": "Serie {n}"},
    "warnings": {"lv": "Brīdinājumi", "en": "Warnings", "de": "Verwarnungen"},
    "red": {"lv": "sarkanie", "en": "red", "de": "Rot"},
    "black": {"lv": "melnie", "en": "black", "de": "Schwarz"},
    "live": {"lv": "Tiešraide", "en": "Live", "de": "Live"},
    "waiting": {"lv": "Gaida galdu", "en": "Waiting for the table", "de": "Wartet auf den Tisch"},
    "stale": {"lv": "Novecojis", "en": "Stale", "de": "Veraltet"},
    "stale_since": {"lv": "Rādījums no {time}", "en": "As of {time}", "de": "Stand {time}"},
    "why_server": {
        "lv": "Nav savienojuma ar tablo serveri",
        "en": "No connection to the board's server",
        "de": "Keine Verbindung zum Anzeigeserver",
    },
    "why_broker": {
        "lv": "Nav savienojuma ar ziņojumu brokeri",
        "en": "No connection to the message broker",
        "de": "Keine Verbindung zum Nachrichtenbroker",
    },
    "why_monitor": {"lv": "Galda monitors ir izslēgts", "en": "The table monitor is offline", "de": "Der Tischmonitor ist offline"},
    "why_picture": {"lv": "Kamera nesūta attēlu", "en": "No picture from the camera", "de": "Kein Bild von der Kamera"},
    "no_ruling": {"lv": "Vēl nav lēmuma", "en": "No ruling yet", "de": "Noch keine Entscheidung"},
    "no_ruling_text": {
        "lv": "Pirmais sitiens parādīsies šeit.",
        "en": "The first stroke will appear here.",
        "de": "Der erste Stoß erscheint hier.",
    },
    "last_ruling": {"lv": "Pēdējais lēmums", "en": "Last ruling", "de": "Letzte Entscheidung"},
    "review_text": {
        "lv": "Par tuvu, lai kamera izšķirtu.",
        "en": "Too close for the camera to tell.",
        "de": "Zu knapp für die Kamera.",
    },
    "no_call": {"lv": "Nav lēmuma", "en": "No call", "de": "Keine Entscheidung"},
    "no_call_text": {
        "lv": "Monitors šo sitienu neredzēja pietiekami labi. Tas nenozīmē, ka pārkāpuma nebija.",
        "en": "The monitor did not see this stroke well enough. That is not “no fault”.",
        "de": "Der Monitor hat diesen Stoß nicht gut genug gesehen. Das heißt nicht „kein Fehler“.",
    },
    "corrected": {"lv": "labots", "en": "corrected", "de": "korrigiert"},
    "close": {"lv": "par tuvu, lai izšķirtu", "en": "too close to call", "de": "zu knapp"},
    "own_zone": {"lv": "aizmugures līnija", "en": "zone line", "de": "Zonenlinie"},
    "circle": {"lv": "vidus aplis", "en": "centre circle", "de": "Mittelkreis"},
    "place": {"lv": "Nolikt {what}", "en": "Place {what}", "de": "{what} auflegen"},
    "restore": {"lv": "Atlikt atpakaļ {what}", "en": "Put back {what}", "de": "{what} zurücklegen"},
    "place_red": {"lv": "sarkano kauliņu", "en": "a red piece", "de": "Roten Stein"},
    "place_black": {"lv": "melno kauliņu", "en": "a black piece", "de": "Schwarzen Stein"},
    "place_striker": {"lv": "ripu", "en": "the striker", "de": "Schlagscheibe"},
    "piece_red": {"lv": "Sarkanais kauliņš", "en": "Red piece", "de": "Roter Stein"},
    "piece_black": {"lv": "Melnais kauliņš", "en": "Black piece", "de": "Schwarzer Stein"},
    "more": {"lv": "un vēl {n}", "en": "and {n} more", "de": "und {n} weitere"},
    "striker": {"lv": "ripa", "en": "striker", "de": "Schlagscheibe"},
    "judge": {"lv": "Tiesneša lēmums", "en": "Judge's decision", "de": "Entscheid des Richters"},
    "between": {"lv": "Starp sitieniem", "en": "Between strokes", "de": "Zwischen den Stößen"},
    "in_place": {"lv": "vietā", "en": "in place", "de": "liegt richtig"},
    "off_by": {"lv": "vēl", "en": "still", "de": "noch"},
    "toward": {"lv": "{mm}\u00a0mm uz\u00a0{side}", "en": "{mm}\u00a0mm toward\u00a0{side}", "de": "{mm}\u00a0mm nach\u00a0{side}"},
    "in_hand": {"lv": "rokā, apmēram {where}", "en": "in hand, about {where}", "de": "in der Hand, etwa {where}"},
    "in_hand_over": {"lv": "rokā, virs vietas", "en": "in hand, over its place", "de": "in der Hand, über dem Platz"},
    "camera_view": {
        "lv": "Galds, kā to redz kamera, ar nolikšanas vietām",
        "en": "The table as the camera sees it, with the places",
        "de": "Der Tisch aus Sicht der Kamera, mit den Plätzen",
    },
    "lang": {"lv": "Valoda", "en": "Language", "de": "Sprache"},
    "theme": {"lv": "Izskats", "en": "Theme", "de": "Aussehen"},
    "theme_light": {"lv": "Gaišs", "en": "Light", "de": "Hell"},
    "theme_dark": {"lv": "Tumšs", "en": "Dark", "de": "Dunkel"},
    "player": {"lv": "Spēlētājs", "en": "Player", "de": "Spieler"},
    "drawing": {
        "lv": "Galds no augšas: {red} sarkani un {black} melni kauliņi",
        "en": "The table from above: {red} red and {black} black pieces",
        "de": "Der Tisch von oben: {red} rote und {black} schwarze Steine",
    },
    "key_dark": {"lv": "tumšais kauliņš", "en": "dark piece", "de": "dunkler Stein"},
    "key_close": {"lv": "uz robežas", "en": "too close to call", "de": "zu knapp"},
    "key_review": {"lv": "lemj tiesnesis", "en": "judge decides", "de": "Richter entscheidet"},
    "key_place": {"lv": "šeit nolikt", "en": "place here", "de": "hier auflegen"},
    "console": {"lv": "Tiesneša pults", "en": "Judge's console", "de": "Richterpult"},
    "sign_in": {"lv": "Pieteikties", "en": "Sign in", "de": "Anmelden"},
    "sign_out": {"lv": "Iziet", "en": "Sign out", "de": "Abmelden"},
    "your_name": {"lv": "Tiesneša vārds", "en": "Judge's name", "de": "Name des Richters"},
    "password": {"lv": "Parole", "en": "Password", "de": "Passwort"},
    "sign_in_failed": {"lv": "Vārds vai parole neder.", "en": "Name or password is wrong.", "de": "Name oder Passwort stimmt nicht."},
    "sign_in_shut": {
        "lv": "Pārāk daudz kļūdu; mēģiniet pēc pusminūtes.",
        "en": "Too many mistakes; try again in half a minute.",
        "de": "Zu viele Fehler; in einer halben Minute wieder.",
    },
    "no_console": {
        "lv": "Pults ir slēgta: tablo palaists bez tiesneša paroles.",
        "en": "The console is closed: the board was started without a judge's password.",
        "de": "Das Pult ist geschlossen: Die Anzeige wurde ohne Richterpasswort gestartet.",
    },
    "entry": {"lv": "{n}. ieraksts", "en": "Entry {n}", "de": "Eintrag {n}"},
    "entries": {"lv": "Pēdējie ieraksti", "en": "Last entries", "de": "Letzte Einträge"},
    "choose": {"lv": "Tā bija", "en": "It was so", "de": "So war es"},
    "void": {"lv": "Anulēt", "en": "Void", "de": "Streichen"},
    "no_fault": {"lv": "Pareizs, pārkāpuma nav", "en": "Lawful, no fault", "de": "Richtig, kein Fehler"},
    "decide": {"lv": "Lemt", "en": "Decide", "de": "Entscheiden"},
    "player_word": {"lv": "Spēlētājs", "en": "Player", "de": "Spieler"},
    "clause_word": {"lv": "Punkts", "en": "Clause", "de": "Punkt"},
    "warning": {"lv": "Brīdinājums", "en": "Warning", "de": "Verwarnung"},
    "give_warning": {"lv": "Brīdināt", "en": "Give warning", "de": "Verwarnen"},
    "add_fault": {"lv": "Pārkāpums, ko kamera neredzēja", "en": "Fault the camera missed", "de": "Fehler, den die Kamera nicht sah"},
    "give_fault": {"lv": "Sodīt", "en": "Sanction", "de": "Ahnden"},
    "other": {"lv": "Citi lēmumi", "en": "Other decisions", "de": "Weitere Entscheide"},
    "award_set": {"lv": "Piešķirt setu", "en": "Award set", "de": "Satz zusprechen"},
    "award_match": {"lv": "Piešķirt spēli", "en": "Award match", "de": "Spiel zusprechen"},
    "debt_forgotten": {"lv": "Parāds aizmirsts", "en": "Debt forgotten", "de": "Schuld vergessen"},
    "start_set": {"lv": "Sākt setu no jauna", "en": "Start set anew", "de": "Satz neu beginnen"},
    "end_match": {"lv": "Beigt spēli", "en": "End match", "de": "Spiel beenden"},
    "sent": {"lv": "Nosūtīts…", "en": "Sent…", "de": "Gesendet…"},
    "done": {"lv": "Izdarīts: {n}. ieraksts", "en": "Done: entry {n}", "de": "Erledigt: Eintrag {n}"},
    "refused": {"lv": "Nav izdarīts: {why}", "en": "Not done: {why}", "de": "Nicht erledigt: {why}"},
    "hall": {"lv": "Zāle", "en": "Hall", "de": "Halle"},
    "need_judge": {"lv": "Tiesnesi gaida: {n}", "en": "Waiting for a judge: {n}", "de": "Warten auf den Richter: {n}"},
    "search": {"lv": "Meklēt", "en": "Search", "de": "Suchen"},
    "only_judge": {"lv": "tikai tie, kas gaida tiesnesi", "en": "only those waiting for a judge", "de": "nur wartende auf den Richter"},
    "only_live": {"lv": "tikai tiešraides", "en": "only live ones", "de": "nur laufende"},
    "no_tables": {"lv": "Brokerī vēl nav neviena galda.", "en": "No table on this broker yet.", "de": "Noch kein Tisch auf diesem Broker."},
    "no_script": {
        "lv": "Tablo rāda galdu ar JavaScript; ieslēdziet to šai lapai.",
        "en": "The board draws the table with JavaScript; please allow it for this page.",
        "de": "Die Anzeige zeichnet den Tisch mit JavaScript; bitte für diese Seite erlauben.",
    },
}


def word(key: str, lang: Lang, **parts: object) -> str:
    """The words for `key`, with its parts filled in."""
    return WORDS[key][lang].format(**parts) if parts else WORDS[key][lang]


def pick_lang(asked: str | None, accept: str = "") -> Lang:
    """The language of the address, else the first known one the browser prefers, else Latvian."""
    for candidate in [asked or "", *(part.split(";")[0].strip() for part in accept.split(","))]:
        for lang in LANGS:
            if candidate.lower().split("-")[0] == lang:
                return lang
    return "lv"
