// qt_gallery: a grid of pictures in QML, as long as you like. Each is decoded to the size at which it is shown, on
// threads of libsdd; those that are scrolled away are cancelled. A click loads one that failed again.
//
//     qt_gallery URL...
#include <sdd/qt.hpp>

#include <QGuiApplication>
#include <QQmlApplicationEngine>
#include <cstdio>

static const char scene[] = R"(
import QtQuick
import QtQuick.Controls
import QtQuick.Window

Window {
    property var urls: []
    width: 900; height: 560; visible: true
    title: "libsdd in QML"

    GridView {
        id: grid
        anchors.fill: parent
        cellWidth: 220; cellHeight: 165
        model: urls
        ScrollBar.vertical: ScrollBar {}

        delegate: Image {
            id: picture
            required property string modelData
            width: grid.cellWidth - 10; height: grid.cellHeight - 10
            sourceSize: Qt.size(width, height)
            source: "image://sdd/" + modelData
            cache: false    // libsdd has one

            BusyIndicator { anchors.centerIn: parent; running: picture.status === Image.Loading }
            Text {
                anchors.centerIn: parent
                visible: picture.status === Image.Error
                text: "\u26a0"; color: "firebrick"; font.pixelSize: 40
            }
            NumberAnimation on opacity { running: picture.status === Image.Ready; from: 0; to: 1; duration: 150 }
            MouseArea {
                anchors.fill: parent
                enabled: picture.status === Image.Error
                onClicked: { picture.source = ""; picture.source = "image://sdd/retry:" + modelData }
            }
        }
    }
}
)";

int main(int argc, char **argv)
{
    QGuiApplication application(argc, argv);
    QQmlApplicationEngine engine;
    const QStringList urls = application.arguments().mid(1);
    if (urls.isEmpty()) {
        std::fprintf(stderr, "usage: qt_gallery URL...\n");
        return 2;
    }
    engine.addImageProvider(QStringLiteral("sdd"), new sdd::qt::image_provider);
    engine.setInitialProperties({ { QStringLiteral("urls"), urls } });
    engine.loadData(scene);
    return engine.rootObjects().isEmpty() ? 1 : QGuiApplication::exec();
}
